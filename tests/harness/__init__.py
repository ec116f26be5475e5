"""The parts of every integration test: a real nginx, a real store, sockets and signatures."""
