package config

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

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

func jsonOf(v any) json.RawMessage {
	text, err := json.Marshal(v)
	if err != nil {
		panic("config: " + err.Error())
	}
	return text
}

// render writes a value as TOML.
func render(v any) string {
	var b bytes.Buffer
	if err := toml.NewEncoder(&b).Encode(map[string]any{"x": v}); err != nil {
		panic("config: " + err.Error())
	}
	return strings.TrimSuffix(strings.TrimPrefix(b.String(), "x = "), "\n")
}
