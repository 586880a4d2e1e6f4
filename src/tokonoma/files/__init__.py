"""Files: folders walked by descriptors, writes that are whole or not there, and the versions that they replace."""
