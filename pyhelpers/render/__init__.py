"""Templates and the data that goes into them; text comes out, nothing is written here."""
