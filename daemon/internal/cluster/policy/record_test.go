package policy

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

func TestADamagedPolicyIsNotReplaced(t *testing.T) {
	sharing := `"sharing":{"jobs":"mapped","rdma_changes":"nobody","idle_after_s":300}`
	cluster := `"cluster":"1627a5fa4a54af2e098cf3ca6dfb55b5"`
	for name, test := range map[string]struct {
		raw  string
		good bool
	}{
		"the least":              {`{` + cluster + `,` + sharing + `}`, true},
		"of a newer version":     {`{` + cluster + `,` + sharing + `,"moon":1}`, true},
		"empty":                  {``, false},
		"not JSON":               {`{`, false},
		"nothing":                {`{}`, false},
		"no sharing":             {`{` + cluster + `}`, false},
		"no cluster":             {`{` + sharing + `}`, false},
		"a line of nobody":       {`{` + cluster + `,` + sharing + `,"users":[{"account":"anna"}]}`, false},
		"a line to nowhere":      {`{` + cluster + `,` + sharing + `,"users":[{"members":true}]}`, false},
		"an account and nobody":  {`{` + cluster + `,` + sharing + `,"users":[{"members":true,"account":"anna","nobody":true}]}`, false},
		"two lines of the same":  {`{` + cluster + `,` + sharing + `,"users":[{"members":true,"account":"anna"},{"members":true,"account":"bob"}]}`, false},
		"a person of no node":    {`{` + cluster + `,` + sharing + `,"users":[{"principal":"anna","account":"anna"}]}`, false},
		"who is mapped, twice":   {`{` + cluster + `,"sharing":{"jobs":"mapped","rdma_changes":"nobody","idle_after_s":300,"mapped_members":true}}`, false},
		"a list out of order":    {`{` + cluster + `,"sharing":{"jobs":"mapped","rdma_changes":"nobody","idle_after_s":300,"jobs_from":["b@cpv0cwypxp44qw0p","a@cpv0cwypxp44qw0p"]}}`, false},
		"no memory":              {`{` + cluster + `,"sharing":{"jobs":"mapped","rdma_changes":"nobody","idle_after_s":300,"memory_max_bytes":0}}`, false},
		"a word of a newer time": {`{` + cluster + `,"sharing":{"jobs":"friends","rdma_changes":"nobody","idle_after_s":300}}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			r := newRig()
			r.records.raw = json.RawMessage(test.raw)
			_, err := Open(r.options())
			is.Equal(err == nil, test.good)
			is.Equal(string(r.records.raw), test.raw)
			is.Equal(len(r.docs) == 1, test.good) // nothing is lent by what cannot be read
		})
	}
}

// What is read is valid, lends to nobody it does not name, and is written as it
// was read.
func FuzzReadRecord(f *testing.F) {
	stored, err := os.ReadFile("testdata/stored.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(stored)
	f.Add([]byte(`{"cluster":"1627a5fa4a54af2e098cf3ca6dfb55b5","sharing":{"jobs":"mapped","rdma_changes":"nobody","idle_after_s":300}}`))
	f.Add([]byte(`{"users":[{"nobody":true,"node":"cpv0cwypxp44qw0p"}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		is := is.New(t)
		r, err := readRecord(raw)
		if err != nil {
			is.Equal(r, record{})
			return
		}
		again, err := json.Marshal(r)
		is.NoErr(err)
		back, err := readRecord(again)
		is.NoErr(err)
		twice, err := json.Marshal(back)
		is.NoErr(err)
		is.Equal(string(twice), string(again))
		s := r.published()
		is.Equal(len(s.Mapped)+len(s.MappedNodes)+len(s.Unmapped)+len(s.UnmappedNodes) <= len(r.Users), true)
		for _, line := range r.Users {
			if line.Principal.Valid() {
				is.Equal(s.IsMapped(line.Principal), !line.Nobody)
			}
		}
		var doc api.Document
		is.NoErr(doc.SetValue(s))
	})
}
