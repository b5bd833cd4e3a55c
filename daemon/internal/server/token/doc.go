// Package token owns what lets a process that the kernel does not vouch for act
// as a local user: tokens, and the one-time secrets from which a browser gets
// one. Both belong to a uid. Only hashes of tokens are kept, in a [Store] that
// the daemon gives; secrets live in memory for [api.BrowserSecretTTL].
package token
