"""Results of reads, kept for a while."""
