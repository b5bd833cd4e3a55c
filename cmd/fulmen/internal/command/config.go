package command

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/spf13/cobra"

	"fulmen/cmd/fulmen/internal/show"
	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

func (r *run) configCommand() *cobra.Command {
	all := r.configRead("show", "Every key with the value in effect", "  fulmen config show\n  fulmen config show --wide",
		func(w *show.Page, l api.DaemonConfigResult) { r.view().Config(w, l) })
	c := group("config", "See and change the configuration",
		all, r.configGet(), r.configSet(),
		r.configRead("path", "Where the configuration is", "  fulmen config path",
			func(w *show.Page, l api.DaemonConfigResult) { w.Line(l.File) }),
		r.configRead("example", "A configuration with every key explained", "  fulmen config example",
			func(w *show.Page, l api.DaemonConfigResult) { show.Example(w, l.Keys) }),
	)
	c.RunE = all.RunE
	return c
}

// configRead is a command that shows something of daemon.config.
func (r *run) configRead(use, short, example string, words func(*show.Page, api.DaemonConfigResult)) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Args: cobra.NoArgs, Example: example,
		RunE: r.asks(func(ctx context.Context, c *client.Client, _ []string) error {
			return answered(ctx, r, c, "daemon.config", nil, words)
		}),
	}
}

// config reads the configuration and does something with it.
func (r *run) config(ctx context.Context, do func(*client.Client, api.DaemonConfigResult) error) error {
	return r.with(ctx, func(c *client.Client) error {
		listing, err := client.Call[api.DaemonConfigResult](ctx, c, "daemon.config", nil)
		if err != nil {
			return err
		}
		return do(c, listing)
	})
}

func (r *run) configGet() *cobra.Command {
	return &cobra.Command{
		Use: "get KEY", Short: "The value of a key that is in effect", Args: cobra.ExactArgs(1),
		Example: "  fulmen config get log.level",
		RunE: func(c *cobra.Command, args []string) error {
			return r.config(c.Context(), func(_ *client.Client, l api.DaemonConfigResult) error {
				key, err := keyOf(l, args[0])
				if err != nil {
					return err
				}
				return r.answer(key, func(w *show.Page) { w.Line(show.Value(key.Value)) })
			})
		},
	}
}

func (r *run) configSet() *cobra.Command {
	var unset bool
	c := &cobra.Command{
		Use: "set KEY VALUE", Short: "Change a key; comments in the file stay",
		Long: "Changes a key of the configuration file and leaves its comments, order and blanks alone. Lists are written with\n" +
			"commas, or as JSON. With --unset the key goes back to its default.",
		Example: "  fulmen config set log.level debug\n  fulmen config set peers.addresses mac-studio-2.local,mac-mini.local\n  fulmen config set --unset log.level",
		Args:    oneLess(&unset, 2),
		RunE: func(c *cobra.Command, args []string) error {
			return r.config(c.Context(), func(c2 *client.Client, l api.DaemonConfigResult) error {
				params := api.DaemonSetConfigParams{Unset: args[:1]}
				if !unset {
					var err error
					if params, err = setting(l, args[0], args[1]); err != nil {
						return err
					}
				}
				when := "in effect now"
				if key, err := keyOf(l, args[0]); err == nil && key.NeedsRestart {
					when = "in effect after the daemon restarts: fulmen restart"
				}
				return r.done(c.Context(), c2, "daemon.set_config", params, args[0]+" is changed, "+when+".")
			})
		},
	}
	c.Flags().BoolVar(&unset, "unset", false, "set back to the default")
	return c
}

// keyOf finds a key. The daemon knows which other is near; here the listing
// helps.
func keyOf(l api.DaemonConfigResult, name string) (api.ConfigKey, error) {
	for _, k := range l.Keys {
		if k.Key == name {
			return k, nil
		}
	}
	return api.ConfigKey{}, advised(api.Errorf(api.ReasonConfigUnknownKey, name, "There is no key %q.", name), "See: fulmen config show")
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
