package token

import "fulmen/daemon/api"

// Record is what is kept of a token.
type Record struct {
	// SHA256 is the hash of the token's text, lower-case hex. A token has 256
	// random bits, so that a fast hash is enough: there is nothing to guess.
	SHA256 string `json:"sha256"`
	// UID is whom the token speaks for.
	UID uint32 `json:"uid"`
	// Name tells it apart from others of the same uid.
	Name string `json:"name"`
	// CreatedAt is when it was made.
	CreatedAt api.Time `json:"created_at"`
	// UsedAt is when it was last used, to the hour.
	UsedAt api.Time `json:"used_at,omitzero"`
	// ExpiresAt is when it stops to count; zero = never.
	ExpiresAt api.Time `json:"expires_at,omitzero"`
}

// Info is the record as its owner sees it.
func (r Record) Info() api.TokenInfo {
	return api.TokenInfo{Name: r.Name, CreatedAt: r.CreatedAt, UsedAt: r.UsedAt, ExpiresAt: r.ExpiresAt}
}

func (r Record) expired(now api.Time) bool {
	return !r.ExpiresAt.IsZero() && !now.Before(r.ExpiresAt.Time)
}
