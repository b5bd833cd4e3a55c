package server

// nearest is the candidate that a mistyped word most likely meant, or empty:
// the least number of single-letter changes, at most a third of the word, rounded up. Of
// equals it is the first.
func nearest(word string, candidates []string) string {
	const longest = 64 // the cost grows with the square, and no name is longer
	if len(word) > longest {
		return ""
	}
	best, bestDistance := "", (len(word)+2)/3+1
	for _, c := range candidates {
		if d := distance(word, c); d < bestDistance {
			best, bestDistance = c, d
		}
	}
	return best
}

// distance counts the insertions, deletions and replacements of bytes between
// two words (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
