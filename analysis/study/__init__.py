"""One measurement: orders in formats at states, against a reference (:mod:`.measure`, :mod:`.cells`)."""
