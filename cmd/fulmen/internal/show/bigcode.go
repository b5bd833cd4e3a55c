package show

import (
	"fmt"
	"io"
	"strings"

	"fulmen/app/text"
)

// glyphRows is how many rows a big character has.
const glyphRows = 5

// glyphs are the characters of a code, large, row by row: # is full. Those that
// are easily taken for another have a mark of their own: the zero is slashed.
func glyphs() map[rune]string {
	return map[rune]string{
		'0': " ### |#  ##|# # #|##  #| ### ", '1': "  #  | ##  |  #  |  #  | ### ", '2': "#### |    #| ### |#    |#####", '3': "#### |    #| ### |    #|#### ",
		'4': "#  # |#  # |#####|   # |   # ", '5': "#####|#    |#### |    #|#### ", '6': " ### |#    |#### |#   #| ### ", '7': "#####|   # |  #  | #   | #   ",
		'8': " ### |#   #| ### |#   #| ### ", '9': " ### |#   #| ####|    #| ### ", 'A': " ### |#   #|#####|#   #|#   #", 'B': "#### |#   #|#### |#   #|#### ",
		'C': " ####|#    |#    |#    | ####", 'D': "#### |#   #|#   #|#   #|#### ", 'E': "#####|#    |#### |#    |#####", 'F': "#####|#    |#### |#    |#    ",
		'G': " ####|#    |#  ##|#   #| ####", 'H': "#   #|#   #|#####|#   #|#   #", 'J': "  ###|    #|    #|#   #| ### ", 'K': "#   #|#  # |###  |#  # |#   #",
		'M': "#   #|## ##|# # #|#   #|#   #", 'N': "#   #|##  #|# # #|#  ##|#   #", 'P': "#### |#   #|#### |#    |#    ", 'Q': " ### |#   #|# # #|#  # | ## #",
		'R': "#### |#   #|#### |#  # |#   #", 'S': " ####|#    | ### |    #|#### ", 'T': "#####|  #  |  #  |  #  |  #  ", 'V': "#   #|#   #|#   #| # # |  #  ",
		'W': "#   #|#   #|# # #|## ##|#   #", 'X': "#   #| # # |  #  | # # |#   #", 'Y': "#   #| # # |  #  |  #  |  #  ", 'Z': "#####|   # |  #  | #   |#####",
		'-': "     |     | ### |     |     ",
	}
}

// BigCode writes a code so that it can be read from some way off, and once more
// as it is typed. A code with a character that no code has is written plainly.
func BigCode(w io.Writer, code string) error {
	all := glyphs()
	rows := make([]string, glyphRows)
	for _, c := range strings.ToUpper(code) {
		glyph, ok := all[c]
		if !ok {
			rows = nil
			break
		}
		for i, part := range strings.Split(glyph, "|") {
			rows[i] += "  " + part
		}
	}
	var b strings.Builder
	for _, row := range rows {
		b.WriteString(strings.TrimRight(strings.ReplaceAll(row, "#", "█"), " ") + "\n")
	}
	if rows != nil {
		b.WriteString("\n")
	}
	_, err := fmt.Fprintf(w, "%s  %s\n", b.String(), text.Clean(code))
	return err
}
