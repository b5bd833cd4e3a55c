package darwin

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"github.com/matryer/is"

	"fulmen/native"
)

var recordedAreas = []native.Area{native.AreaThunderbolt, native.AreaRDMA, native.AreaNetwork}

// TestRecordedMac tells of a recording, where there is no C.
func TestRecordedMac(t *testing.T) {
	is := is.New(t)
	text, err := os.ReadFile("testdata/recording.json")
	is.NoErr(err)
	r, err := ParseRecording(text)
	is.NoErr(err)
	s := r.Facts()
	is.Equal(s.Check(recordedAreas), nil)
	var got bytes.Buffer
	encoder := json.NewEncoder(&got)
	encoder.SetIndent("", "  ")
	is.NoErr(encoder.Encode(s))
	if *update {
		is.NoErr(os.WriteFile("testdata/recording.golden", got.Bytes(), 0o644))
	}
	want, err := os.ReadFile("testdata/recording.golden")
	is.NoErr(err)
	is.Equal(got.String(), string(want))

	again, err := json.Marshal(r)
	is.NoErr(err)
	back, err := ParseRecording(again)
	is.NoErr(err)
	is.Equal(back, r)
	_, err = ParseRecording([]byte(`{"format": "fulmen.darwin/9"}`))
	is.True(err != nil)
}

// FuzzParseRecording: whatever a recording says, its facts are honest.
func FuzzParseRecording(f *testing.F) {
	text, err := os.ReadFile("testdata/recording.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte(`{"format":"fulmen.darwin/1","thunderbolt":[[1,0,"IOThunderboltController","C","n","",{}],[2,1,"IOThunderboltSwitch","","","",{"Depth":0}],[3,2,"IOThunderboltPort","","","",{"Socket ID":"1","Adapter Type":1}],[1,3,"IOThunderboltSwitch","","","",{"Route String":1}]]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := ParseRecording(text)
		if err != nil {
			return
		}
		if problems := r.Facts().Check(recordedAreas); len(problems) > 0 {
			t.Fatal(problems)
		}
	})
}

// FuzzDecode: whatever bytes come from C, they are read or refused.
func FuzzDecode(f *testing.F) {
	f.Add([]byte("a\x01\x00\x00\x00m\x01\x00\x00\x00s\x01\x00\x00\x00ki\x07\x00\x00\x00\x00\x00\x00\x00"))
	f.Add([]byte("a\xff\xff\xff\xff"))
	f.Add(bytes.Repeat([]byte("a\x01\x00\x00\x00"), 40))
	f.Fuzz(func(t *testing.T, b []byte) {
		if all, err := entries(b); err == nil {
			_ = newTree(all)
		}
	})
}
