// The words of the page.
import english from "./strings/en.js";

export default english;
