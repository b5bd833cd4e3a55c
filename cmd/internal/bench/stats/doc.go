// Package stats holds the statistics of make bench: medians of interleaved
// pairs with intervals that assume nothing of how the noise is distributed.
package stats
