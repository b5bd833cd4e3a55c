package simmac_test

import (
	"testing"

	"github.com/matryer/is"

	"fulmen/native/darwin/simmac"
)

func TestParseIoreg(t *testing.T) {
	is := is.New(t)
	n, err := simmac.ParseIoreg([]byte(`<plist><dict><key>IORegistryEntryName</key><string>a</string><key>IOObjectClass</key><string>C</string>
<key>n</key><integer>18446744073709551615</integer><key>d</key><data> AQI= </data><key>r</key><real>2.5</real><key>t</key><true/>
<key>l</key><array><string>x</string></array><key>IORegistryEntryChildren</key><array><dict/></array></dict></plist>`))
	is.NoErr(err)
	is.Equal(len(n.Children), 1)
	is.Equal(n.Children[0].Class, "C")
	is.Equal(n.Children[0].Properties, map[string]any{"n": int64(-1), "d": []byte{1, 2}, "r": 2.5, "t": true, "l": []any{"x"}})
	is.Equal(len(n.Children[0].Children), 1)
	for _, bad := range []string{"", "<plist>", "<plist><dict><key>a</key></dict></plist>", "<plist><dict><integer>1</integer></dict></plist>",
		"<plist><array><integer>x</integer></array></plist>", "<plist><string>a</string></plist>", "<plist><blob/></plist>"} {
		_, err := simmac.ParseIoreg([]byte(bad))
		if err == nil {
			t.Errorf("%q is read", bad)
		}
	}
}
