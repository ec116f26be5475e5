"""Writes an OpenAPI document as a page of Markdown: the site's search finds its fields, and it needs no script."""

import yaml


class Page:
    """The lines of one document's page."""

    def __init__(self, document, file_name):
        self.document = document
        info = document["info"]
        self.lines = [f"# {info['title']}", "", info["description"].strip(), "",
                      f"The document for programs: [{file_name}]({file_name}) (OpenAPI {document['openapi']}).", ""]

    def follow(self, node):
        """`node`, or what its $ref names, with the other members of `node`."""
        if "$ref" not in node:
            return node
        found = self.document
        for word in node["$ref"].removeprefix("#/").split("/"):
            found = found[word]
        return {**found, **{name: value for name, value in node.items() if name != "$ref"}}

    def write_operation(self, path, method, operation):
        self.lines += [f"## {method.upper()} {path}", "", f"{operation['summary']}.", ""]
        self.lines += [operation.get("description", "").strip(), ""]
        self.write_parameters([self.follow(entry) for entry in operation.get("parameters", [])])
        if "requestBody" in operation:
            self.write_content("Request", operation["requestBody"]["content"])
        self.lines += ["| Answer | |", "|---|---|"]
        answers = {status: self.follow(answer) for status, answer in operation["responses"].items()}
        self.lines += [f"| {status} | {cell(answer['description'])} |" for status, answer in answers.items()] + [""]
        for status, answer in answers.items():
            if status.startswith("2"):
                self.write_content(f"Answer {status}", answer.get("content", {}))

    def write_parameters(self, parameters):
        if not parameters:
            return
        self.lines += ["| Parameter | In | Type | |", "|---|---|---|---|"]
        for entry in parameters:
            self.lines.append(f"| {name_cell(entry['name'], entry.get('required'))} | {entry['in']} | {self.kind(entry['schema'])} "
                              f"| {cell(entry.get('description', ''))} |")
        self.lines.append("")

    def write_content(self, title, content):
        for form, body in content.items():
            if "schema" in body:
                self.lines += [f"**{title}**, `{form}`: {self.kind(body['schema'])}", ""]
                self.write_fields(body["schema"])

    def write_schema(self, name, schema):
        self.lines += [f"### {name}", "", f"{self.kind(schema)}. {schema.get('description', '')}".strip(), ""]
        self.write_fields(schema)

    def write_fields(self, schema):
        rows = list(self.fields(schema, ""))
        if rows:
            self.lines += ["| Field | Type | |", "|---|---|---|", *rows, ""]

    def fields(self, schema, prefix):
        """Rows of an object's fields; objects that have no name of their own are listed with a dotted path."""
        if schema.get("type") == "array":
            yield from self.fields(schema.get("items", {}), prefix.rstrip(".") + "[].")
        required = schema.get("required", [])
        for name, entry in schema.get("properties", {}).items():
            shown = self.follow(entry)
            yield (f"| {name_cell(prefix + name, name in required)} | {self.kind(entry)} "
                   f"| {cell(shown.get('description', ''))} |")
            if "$ref" not in entry:
                yield from self.fields(entry, f"{prefix}{name}.")

    def kind(self, schema):
        """The type of a value, with what limits it."""
        if "$ref" in schema:
            name = schema["$ref"].rsplit("/", 1)[1]
            return f"[{name}](#{name.lower()})"
        if "oneOf" in schema:
            return " or ".join(self.kind(entry) for entry in schema["oneOf"])
        if "const" in schema:
            return f"`{schema['const']}`"
        if "enum" in schema:
            return ", ".join(f"`{value}`" for value in schema["enum"])
        types = schema.get("type", "any")
        text = " or ".join(types) if isinstance(types, list) else types
        if "items" in schema:
            text += " of " + self.kind(schema["items"])
        limits = [f"{word} {schema[key]}" for key, word in
                  (("minimum", "from"), ("maximum", "to"), ("maxItems", "at most"), ("maxLength", "length to")) if key in schema]
        limits += [f"`{schema['pattern']}`".replace("|", "\\|")] if "pattern" in schema else []
        return ", ".join([text + (f" ({schema['format']})" if "format" in schema else ""), *limits])


def cell(text):
    return " ".join(str(text).split()).replace("|", "\\|")


def name_cell(name, required):
    return f"`{name}`, required" if required else f"`{name}`"


def render(text, file_name):
    document = yaml.safe_load(text)
    page = Page(document, file_name)
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            page.write_operation(path, method, operation)
    page.lines += ["## Schemas", ""]
    for name, schema in document["components"]["schemas"].items():
        page.write_schema(name, schema)
    return "\n".join(page.lines)
