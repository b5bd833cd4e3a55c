package show

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"fulmen/app/text"
	"fulmen/daemon/api"
)

// Pending writes the Macs that ask, numbered where one is to be chosen.
func (v View) Pending(w *Page, all []api.Pending, numbered bool) {
	if len(all) == 0 {
		w.Line("No Mac is asking to join.")
		return
	}
	table := View{Wide: numbered}.table("+", "NAME", "ID", "MODEL", "WHERE", "STATE", "SINCE")
	for i, p := range all {
		table.Row(strconv.Itoa(i+1), p.Name, p.Peer.Display(), orUnknown(p.ModelName), Where(p), string(p.State), text.Ago(v.Now, p.Since.Time))
	}
	w.Table(table)
	if !numbered {
		w.Line("")
		w.Line("None of this is proven until the right code is entered. To enter it: fulmen pair --answer NAME")
	}
}

// Where is from where a Mac asks: 192.168.1.7 over en0.
func Where(p api.Pending) string {
	at := ""
	if p.Address != (netip.AddrPort{}) {
		at = p.Address.Addr().String()
	}
	if p.Interface == "" {
		return orUnknown(at)
	}
	return join(" over ", at, p.Interface)
}

// TriesLeft counts the wrong codes that are still allowed: 2 tries left.
func TriesLeft(n int) string {
	if n == 0 {
		return "no tries left"
	}
	return fmt.Sprintf("%d %s left", n, choose(n == 1, "try", "tries"))
}

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
func BigCode(w *Page, code string) {
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
	fmt.Fprintf(w, "%s  %s\n", b.String(), text.Clean(code))
}
