package command

import (
	"encoding/json"
	"strings"

	"fulmen/daemon/api"
)

// keyOf finds a key. The daemon knows which other is near; here the listing
// helps.
func keyOf(l api.DaemonConfigResult, name string) (api.ConfigKey, error) {
	for _, k := range l.Keys {
		if k.Key == name {
			return k, nil
		}
	}
	e := api.Errorf(api.ReasonConfigUnknownKey, name, "There is no key %q.", name)
	e.Data.Remedy = "See: fulmen config show"
	return api.ConfigKey{}, e
}

// setting makes the parameters of a change. A key that is not known goes to the
// daemon as text, whose answer names the nearest one.
func setting(l api.DaemonConfigResult, name, value string) (api.DaemonSetConfigParams, error) {
	key, err := keyOf(l, name)
	if err != nil {
		key = api.ConfigKey{Default: json.RawMessage(`""`)}
	}
	raw, err := parseValue(key.Default, value)
	if err != nil {
		return api.DaemonSetConfigParams{}, err
	}
	return api.DaemonSetConfigParams{Set: map[string]json.RawMessage{name: raw}}, nil
}

// parseValue reads a value as a person writes it, for a key whose default has
// the wanted type. What is no such value goes on as text, for the daemon to
// refuse with its own words.
func parseValue(like json.RawMessage, value string) (json.RawMessage, error) {
	asText, err := json.Marshal(value)
	if err != nil || len(like) == 0 {
		return asText, err
	}
	raw := json.RawMessage(strings.TrimSpace(value))
	switch like[0] {
	case '"':
		return asText, nil
	case '[', 'n':
		if strings.HasPrefix(string(raw), "[") && json.Valid(raw) {
			return raw, nil
		}
		list := []string{}
		for part := range strings.SplitSeq(value, ",") {
			if part = strings.TrimSpace(part); part != "" {
				list = append(list, part)
			}
		}
		return json.Marshal(list)
	}
	if json.Valid(raw) {
		return raw, nil
	}
	return asText, nil
}
