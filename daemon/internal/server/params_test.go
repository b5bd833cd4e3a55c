package server

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/native/nearest"
)

type inner struct {
	Count  uint             `json:"count"`
	At     api.Time         `json:"at"`
	Labels map[string]int   `json:"labels"`
	Raw    json.RawMessage  `json:"raw"`
	Many   []map[string]any `json:"many"`
}

type embedded struct {
	Name string `json:"name"`
}

type outer struct {
	embedded
	Inner  *inner         `json:"inner,omitempty"`
	List   []inner        `json:"list"`
	ByName map[string]int `json:"by_name"`
	Hidden int            `json:"-"`
}

func TestDecodeParams(t *testing.T) {
	for text, want := range map[string]struct {
		reason  api.Reason
		subject string
		reports string
	}{
		``:                           {},
		`{}`:                         {},
		` {"inner":{"count":1}} `:    {},
		`{"inner":null,"list":null}`: {},
		`{"list":[{"count":1},{"labels":{"any name":1},"raw":{"any":[1]},"many":[{"x":1}]}]}`: {},
		`null`:                      {api.ReasonBadValue, "params", "object"},
		`[]`:                        {api.ReasonBadValue, "params", "object"},
		`"x"`:                       {api.ReasonBadValue, "params", "object"},
		`{"lst":[]}`:                {api.ReasonUnknownField, "lst", `"list"`},
		`{"LIST":[]}`:               {api.ReasonUnknownField, "LIST", "no field"},
		`{"Hidden":1}`:              {api.ReasonUnknownField, "Hidden", "no field"},
		`{"-":1}`:                   {api.ReasonUnknownField, "-", "no field"},
		`{"":1}`:                    {api.ReasonUnknownField, "", "no field"},
		`{"inner":{"cuont":1}}`:     {api.ReasonUnknownField, "inner.cuont", `"count"`},
		`{"list":[{},{"x":1}]}`:     {api.ReasonUnknownField, "list[1].x", "no field"},
		`{"inner":{"count":-1}}`:    {api.ReasonBadValue, "inner.count", "from 0"},
		`{"inner":{"count":"1"}}`:   {api.ReasonBadValue, "inner.count", "whole number"},
		`{"by_name":{"a":"b"}}`:     {api.ReasonBadValue, "by_name", "whole number"},
		`{"list":{}}`:               {api.ReasonBadValue, "list", "array"},
		`{"inner":[]}`:              {api.ReasonBadValue, "inner", "object"},
		`{"inner":{"at":"monday"}}`: {api.ReasonMalformedID, "time", ""},
		`{"` + strings.Repeat("x", 5000) + `":1}`: {api.ReasonUnknownField, strings.Repeat("x", 64) + "...", "no field"},
	} {
		t.Run(shorten(text), func(t *testing.T) {
			is := is.New(t)
			var p outer
			err := decodeParams(json.RawMessage(text), &p)
			if want.reason == "" {
				is.NoErr(err)
				return
			}
			e, ok := errors.AsType[paramsError](err)
			is.True(ok)
			is.Equal(e.fault.Data.Reason, want.reason)
			// Go 1.27 names the key of a map too: by_name.a.
			is.True(e.fault.Data.Subject == want.subject || strings.HasPrefix(e.fault.Data.Subject, want.subject+"."))
			is.True(strings.Contains(e.Error(), want.reports))
			is.True(len(e.Error()) < 500) // whatever was sent
		})
	}
}

func TestNearest(t *testing.T) {
	words := []string{"kinds", "nodes", "n", "state.get", "state.watch"}
	for word, want := range map[string]string{
		"kind": "kinds", "kinsd": "kinds", "node": "nodes", "nodez": "nodes", "state.wach": "state.watch", "state.gte": "state.get",
		"": "", "wholly different": "", "kinds": "kinds", strings.Repeat("kinds", 50): "",
	} {
		t.Run(word, func(t *testing.T) { is.New(t).Equal(nearest.Of(word, words), want) })
	}
}

// FuzzDecodeParams reads anything as the parameters of every method: what is
// accepted encodes to something that is accepted again.
func FuzzDecodeParams(f *testing.F) {
	for _, seed := range []string{`{}`, `{"inner":{"count":1,"raw":[null]},"list":[{}],"by_name":{"a":1},"name":"x"}`, `[{}]`, `{"list":[[]]}`, `{"inner":{"at":"2026-01-02T03:04:05.678Z"}}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		is := is.New(t)
		var p outer
		err := decodeParams(text, &p)
		if err != nil {
			_, ok := errors.AsType[paramsError](err)
			is.True(ok)
			return
		}
		again, err := json.Marshal(p)
		is.NoErr(err)
		is.NoErr(decodeParams(again, &outer{}))
	})
}
