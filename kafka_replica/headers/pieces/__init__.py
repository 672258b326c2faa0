"""The pieces of header stacks that come with the library."""
