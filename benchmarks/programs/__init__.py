"""The measured programs: each module runs as a process of its own, which prints one line of JSON at its end."""
