package cluster

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"time"

	"fulmen/daemon/api"
)

// Use keeps ids that rotate daily apart by what they are for.
type Use string

// The uses.
const (
	// UseAnnounce is the id in the announcement of discovery.
	UseAnnounce Use = "announce"
	// UseDial is what a dialling member shows before the other side shows
	// anything: its name in the TLS greeting.
	UseDial Use = "dial"
)

// DailyID is an id of a node that changes at midnight UTC, 32 hexadecimal
// characters. Only who knows the cluster's id, a member, can tell whose it is.
func DailyID(cluster api.ClusterID, node api.NodeID, use Use, day time.Time) string {
	mac := hmac.New(sha256.New, []byte("fulmen-daily-1"+string(cluster)))
	mac.Write([]byte(string(use) + "|" + string(node) + "|" + day.UTC().Format(time.DateOnly)))
	return hex.EncodeToString(mac.Sum(nil)[:16])
}

// IsDailyID reports whether an id is the node's of today, yesterday or tomorrow:
// clocks differ, and midnight comes.
func IsDailyID(id string, cluster api.ClusterID, node api.NodeID, use Use, now time.Time) bool {
	found := false
	for days := -1; days <= 1; days++ {
		want := DailyID(cluster, node, use, now.AddDate(0, 0, days))
		found = hmac.Equal([]byte(id), []byte(want)) || found
	}
	return found
}
