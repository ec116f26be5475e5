"""The newest orders of a link, which are searched among those of its creator."""

from serve.live import recent, served_shop

SEARCHED = 2_000


def test_a_link_says_if_only_the_newest_orders_of_its_creator_were_searched(tmp_path):
    with served_shop(tmp_path) as live:
        live.edge.sluice("link", "create", "mug", "--account", "acme", "--program", "spring", "--creator", "ann", "--to", "https://shop.example/")

        def shown():
            live.edge.sluice("worker", "--until-empty")
            link = live.reader.object("link", link="mug")
            return link["newest_orders"], link["newest_orders_cut"]

        for number in range(SEARCHED):
            assert live.edge.post_event("shop-1", live.secret, "ORDER_CREATE", recent(f"o{number}")).status == 200
        assert shown() == ([], False), "all of them were searched"
        live.order("one more")
        assert shown() == ([], True)
