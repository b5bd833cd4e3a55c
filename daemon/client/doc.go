// Package client is how Go programs talk to the daemon: the command line, the
// app, tests, and whoever likes. It uses the public API and nothing else, so
// that what it does a script can do too.
//
//	c, err := client.Dial(ctx, client.Options{Addresses: client.Find(client.Process())})
//	defer c.Close()
//	info, err := client.Call[api.DaemonInfoResult](ctx, c, "daemon.info", nil)
//	for event, err := range c.Watch(ctx, api.StateSelect{Kinds: []api.Kind{api.KindMemory}}) { ... }
//
// Refusals and failures are *api.Error throughout. Every call has a deadline:
// the context's, or [Options.Timeout].
package client
