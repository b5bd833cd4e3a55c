package cluster

import (
	"strconv"
	"strings"
	"unicode"

	"fulmen/daemon/api"
)

// MaxShortName is the longest short name, in characters: a DNS label's.
const MaxShortName = 63

// latin spells the letters of European languages that have no place in a short
// name, as macOS does for a local host name: without their accents.
const latin = "àa áa âa ãa äa åa æae çc èe ée êe ëe ìi íi îi ïi ðd ñn òo óo ôo õo öo øo ùu úu ûu üu ýy ÿy ßss " +
	"āa ăa ąa ćc čc ďd đd ēe ėe ęe ěe ğg ģg īi įi ıi ķk ļl ľl łl ńn ņn ňn ōo őo œoe ŕr řr śs şs šs șs ţt ťt țt ūu ůu űu ųu źz żz žz þth"

// ShortName is the slug of a computer's name: lower-case letters, digits and
// single dashes. Apostrophes go, so that "Ada's Mac" is adas-mac. A name with
// nothing to keep becomes mac- and the first four characters of the node id.
func ShortName(computer string, node api.NodeID) string {
	var b strings.Builder
	isGap := false
	for _, c := range strings.ToLower(computer) {
		text := spell(c)
		switch {
		case text != "":
			if isGap {
				b.WriteByte('-')
			}
			isGap = false
			b.WriteString(text)
		case c == '\'' || c == '’' || unicode.Is(unicode.Mn, c):
			// Part of the word around it.
		default:
			isGap = b.Len() > 0
		}
	}
	if b.Len() == 0 {
		return "mac-" + string(node)[:min(4, len(node))]
	}
	return cut(b.String(), MaxShortName)
}

// spell is a letter or digit in the alphabet of short names; empty if it has none.
func spell(c rune) string {
	if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' {
		return string(c)
	}
	if c < 0x80 {
		return ""
	}
	_, rest, ok := strings.Cut(latin, string(c))
	if !ok {
		return ""
	}
	text, _, _ := strings.Cut(rest, " ")
	return text
}

// UniqueName is the name, or the first of name-2, name-3, ... that is not taken.
func UniqueName(name string, isTaken func(string) bool) string {
	for n, try := 2, name; ; n++ {
		if !isTaken(try) {
			return try
		}
		suffix := "-" + strconv.Itoa(n)
		try = cut(name, MaxShortName-len(suffix)) + suffix
	}
}

// cut shortens a name, not to end in a dash.
func cut(name string, length int) string {
	return strings.TrimRight(name[:min(length, len(name))], "-")
}
