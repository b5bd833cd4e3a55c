package darwin

import (
	"strings"
	"testing"

	"github.com/matryer/is"
)

func TestTXT(t *testing.T) {
	is := is.New(t)
	pairs := map[string]string{"v": "1", "empty": "", "equal": "a=b"}
	b, err := encodeTXT(pairs)
	is.NoErr(err)
	is.Equal(decodeTXT(b), pairs)
	b, err = encodeTXT(nil)
	is.NoErr(err)
	is.Equal(b, []byte{0})
	is.Equal(decodeTXT(b), map[string]string{})
	for _, bad := range []map[string]string{{"": "x"}, {"a=b": "x"}, {"a": strings.Repeat("x", 254)}, {"a": strings.Repeat("x", 240), "b": strings.Repeat("x", 240), "c": strings.Repeat("x", 240), "d": strings.Repeat("x", 240), "e": strings.Repeat("x", 240)}} {
		_, err := encodeTXT(bad)
		is.True(err != nil)
	}
	is.Equal(decodeTXT([]byte("\x03a=1\x03a=2\x02=x\x01b\xffcut")), map[string]string{"a": "1", "b": ""})
}

// FuzzDecodeTXT: whatever somebody announces, it is read without a panic, and what
// is read can be written.
func FuzzDecodeTXT(f *testing.F) {
	f.Add([]byte("\x03a=1\x00\xff"))
	f.Fuzz(func(t *testing.T, b []byte) {
		for key := range decodeTXT(b) {
			if key == "" || strings.Contains(key, "=") {
				t.Fatalf("the key %q", key)
			}
		}
	})
}
