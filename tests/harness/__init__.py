"""What every integration test needs: a real nginx, a real store, sockets and signatures."""
