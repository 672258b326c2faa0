"""What is measured: each module is a process of its own, which prints one line of JSON at its end."""
