"""Several threads at once."""

import threading


def at_once(count, run):
    """Runs `run(index)` on so many threads and waits for all of them."""
    threads = [threading.Thread(target=run, args=(index,)) for index in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
