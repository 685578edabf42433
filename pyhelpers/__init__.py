"""The Python core of the FlexNode Installer Toolkit: rendering, the reference agent, sandboxes and test hosts."""
