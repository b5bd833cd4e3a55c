package plist_test

import (
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/native/plist"
)

func TestParse(t *testing.T) {
	is := is.New(t)
	v, err := plist.Parse([]byte(`<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<!-- why -->
<dict>
	<key>text</key><string>a &amp; <!-- not this --> b</string>
	<key>number</key><integer> 438 </integer>
	<key>unsigned</key><integer>18446744073709551615</integer>
	<key>real</key><real>2.5</real>
	<key>yes</key><true/>
	<key>no</key><false/>
	<key>data</key><data>
		AQI=
	</data>
	<key>date</key><date>2026-11-22T00:00:00Z</date>
	<key>list</key><array><string>x</string><dict/></array>
</dict>
</plist>
`))
	is.NoErr(err)
	is.Equal(v, map[string]any{
		"text": "a &  b", "number": int64(438), "unsigned": int64(-1), "real": 2.5, "yes": true, "no": false,
		"data": []byte{1, 2}, "date": "2026-11-22T00:00:00Z", "list": []any{"x", map[string]any{}},
	})
}

func TestWhatIsNoPropertyListIsRefused(t *testing.T) {
	for text, reports := range map[string]string{
		"":                "unexpected EOF",
		"<plist>":         "unexpected EOF",
		"<plist></plist>": "holds no value",
		"<dict></dict>":   "does not begin with <plist>",
		"<plist><dict/>":  "unexpected EOF",
		"<plist><string>a</string><string>b</string></plist>":                        "more than one value",
		"<plist><string>a</string></plist><plist/>":                                  "goes on after its end",
		"<plist>\n<dict>\n<key>a</key>\n</dict></plist>":                             `line 4: the key "a" has no value`,
		"<plist><dict><key>a</key><true/><key>a</key><true/></dict></plist>":         "stands twice",
		"<plist><dict><string>a</string></dict></plist>":                             "where a key should",
		"<plist><dict>a</dict></plist>":                                              `the text "a" belongs to no element`,
		"<plist><array><integer>x</integer></array></plist>":                         "invalid syntax",
		"<plist><true>no</true></plist>":                                             `holds the text "no"`,
		"<plist><string><b/></string></plist>":                                       "<b> stands in <string>",
		"<plist><blob/></plist>":                                                     "there is no element <blob>",
		"<plist><data>*</data></plist>":                                              "illegal base64",
		strings.Repeat("<array>", 300):                                               "does not begin",
		"<plist>" + strings.Repeat("<array>", 300) + strings.Repeat("</array>", 300): "nested too deep",
		"<plist><dict><key>a</key><string>b</string>":                                "EOF",
		"<plist><dict><key>a</key><string>b":                                         "EOF",
	} {
		_, err := plist.Parse([]byte(text))
		if err == nil || !strings.Contains(err.Error(), reports) {
			t.Errorf("%.60q: %v, not %s", text, err, reports)
		}
	}
}

func TestWrite(t *testing.T) {
	is := is.New(t)
	text, err := plist.Write(map[string]any{"b": []string{"x <y>"}, "a": 1, "c": map[string]any{"on": true}})
	is.NoErr(err)
	is.Equal(string(text), `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
	<key>a</key>
	<integer>1</integer>
	<key>b</key>
	<array>
		<string>x &lt;y&gt;</string>
	</array>
	<key>c</key>
	<dict>
		<key>on</key>
		<true/>
	</dict>
</dict>
</plist>
`)
	_, err = plist.Write(map[string]any{"a": []any{struct{}{}}})
	is.True(strings.Contains(err.Error(), "a: element 0: a property list cannot hold a struct {}"))
}

// What is read can be written, and reads the same then.
func FuzzParse(f *testing.F) {
	f.Add([]byte("<plist><dict><key>a</key><array><integer>0x7f</integer><real>1e3</real><data>AQI=</data><true/></array></dict></plist>"))
	f.Add([]byte("<plist><string>&#x1F600; &amp;</string></plist>"))
	f.Add([]byte("<plist><array>"))
	f.Fuzz(func(t *testing.T, text []byte) {
		v, err := plist.Parse(text)
		if err != nil {
			return
		}
		written, err := plist.Write(v)
		if err != nil {
			t.Fatal(err)
		}
		again, err := plist.Parse(written)
		if err != nil {
			t.Fatalf("%v in\n%s", err, written)
		}
		third, err := plist.Write(again)
		if err != nil || string(third) != string(written) {
			t.Fatalf("%s became %s (%v)", written, third, err)
		}
	})
}
