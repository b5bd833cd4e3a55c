package output

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"fulmen/app/text"
)

const (
	escape = 0x1b
	// reset ends colours.
	reset = "\x1b[0m"
	// maxColour bounds a sequence that sets a colour, in bytes.
	maxColour = 48
)

// cleaner makes what one source prints harmless on a terminal: escape sequences,
// other control characters, marks that turn the direction of writing, and bytes
// that are no UTF-8 are shown as escapes such as \x1b, since a terminal would obey
// them: fill the clipboard, for instance. Line ends, tabs and colours stay.
type cleaner struct {
	tail []byte // the beginning of a character or sequence that goes on in the next piece
}

// clean gives what is shown of a piece. A colour ends with its line; painted says
// whether one is on, before and after.
func (c *cleaner) clean(piece []byte, painted bool) ([]byte, bool) {
	data := append(c.tail, piece...)
	c.tail = nil
	var out bytes.Buffer
	for len(data) > 0 {
		size := 1
		switch b := data[0]; {
		case b == '\n' || b == '\r':
			if painted {
				out.WriteString(reset)
				painted = false
			}
			out.WriteByte(b)
		case b == '\t' || b >= ' ' && b < 0x7f:
			out.WriteByte(b)
		case b == escape:
			n, isCut := colour(data)
			if isCut {
				c.tail = data
				return out.Bytes(), painted
			}
			if n > 0 {
				size = n
				painted = string(data[:n]) != reset && string(data[:n]) != "\x1b[m"
				out.Write(data[:n])
				break
			}
			out.WriteString(text.Clean(string(data[:1])))
		case !utf8.FullRune(data):
			c.tail = data
			return out.Bytes(), painted
		default:
			var r rune
			r, size = utf8.DecodeRune(data)
			if r == utf8.RuneError && size == 1 || unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
				out.WriteString(text.Clean(string(data[:size])))
			} else {
				out.Write(data[:size])
			}
		}
		data = data[size:]
	}
	return out.Bytes(), painted
}

// rest is what is shown of a piece that does not go on.
func (c *cleaner) rest() []byte {
	tail := c.tail
	c.tail = nil
	return []byte(text.Clean(string(tail)))
}

// colour is the length of the sequence that data begins with where that sets
// colours alone (SGR, ECMA-48 8.3.117), and 0 where it is another. isCut says that
// it may be one and is not there to its end.
func colour(data []byte) (n int, isCut bool) {
	for i, b := range data[:min(len(data), maxColour)] {
		switch {
		case i == 0 || i == 1 && b == '[' || i > 1 && (b >= '0' && b <= '9' || b == ';' || b == ':'):
		case i > 1 && b == 'm':
			return i + 1, false
		default:
			return 0, false
		}
	}
	return 0, len(data) < maxColour
}
