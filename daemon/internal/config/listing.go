package config

import (
	"encoding/json"
	"slices"
	"strings"

	"fulmen/daemon/api"
)

// Listing is all keys as the API shows them, ordered by name: the values of
// inForce, and whether the text that was parsed has one.
func (p *Parsed) Listing(inForce Config) []api.ConfigKey {
	var out []api.ConfigKey
	for _, f := range Fields() {
		out = append(out, api.ConfigKey{
			Key: f.Key, Value: jsonOf(f.get(&inForce)), Default: jsonOf(f.start),
			Set: p.Set[f.Key], NeedsRestart: f.Restart, Doc: f.Doc,
		})
	}
	slices.SortFunc(out, func(a, b api.ConfigKey) int { return strings.Compare(a.Key, b.Key) })
	return out
}

// Get is the value of a key as TOML; false if there is no such key.
func (c Config) Get(key string) (string, bool) {
	f, ok := Lookup(key)
	if !ok {
		return "", false
	}
	return render(f.get(&c)), true
}

func jsonOf(v any) json.RawMessage {
	text, err := json.Marshal(v)
	if err != nil {
		panic("config: " + err.Error())
	}
	return text
}
