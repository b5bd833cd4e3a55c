// Package nearest finds the name that somebody probably meant. It owns nothing
// and is for the messages of errors about names that are not known.
package nearest

import "slices"

// Of returns the candidate that is the fewest changed, added, removed or
// swapped letters away from the word; the first of several. It is empty if that is
// more than a third of the word's letters, and more than one: then nobody meant it.
func Of(word string, candidates []string) string {
	if word == "" {
		return "" // nothing was typed, so nothing was meant
	}
	best, least := "", max(len(word)/3, 1)+1
	for _, c := range candidates {
		if d := distance(word, c, least); d < least {
			best, least = c, d
		}
	}
	return best
}

// distance is the distance of Damerau and Levenshtein in its restricted form, by bytes.
// One of limit or more may come back as any number from limit on.
func distance(a, b string, limit int) int {
	if d := len(a) - len(b); d >= limit || -d >= limit {
		return limit
	}
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row[0] = i + 1
		for j := range len(b) {
			change := last[j]
			if a[i] != b[j] {
				change++
			}
			row[j+1] = min(change, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		if slices.Min(row) >= limit {
			return limit
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
