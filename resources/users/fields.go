package users

import (
	"encoding/json"
	"net/url"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
)

// Bounds of a record's fields: the picture's in characters, the metadata's in bytes.
const (
	maxPicture  = 2048
	maxMetadata = 16 << 10
)

var authenticationType = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// fields holds the fields of a user that a body has; nil stands for an absent field.
type fields struct {
	name, picture, email, kind, partner, partnerID *string
	verified                                       *bool
	metadata                                       *json.RawMessage
}

// readFields reads the fields that user.create and user.update share.
func (s *Service) readFields(o *wire.Object) fields {
	return fields{
		name:      readName(o),
		picture:   readText(o, "profile_pic_url", validPicture, "must be an http or https URL of at most 2048 characters, or empty"),
		email:     readText(o, "email", resources.ValidEmail, resources.EmailRule),
		kind:      readText(o, "authentication_type", authenticationType.MatchString, "must be unknown or a connection's name of [A-Za-z0-9_-]{1,64}"),
		partner:   readText(o, "authentication_partner", s.validPartner, "must be "+s.IdentityProvider),
		partnerID: readText(o, "authentication_partner_id", validPartnerID, "must be 1 to 255 bytes without spaces around them and without invisible characters, and not begin with "+resources.ServicePrefix+", or be empty"),
		verified:  readBool(o, "is_verified"),
		metadata:  readMetadata(o),
	}
}

// readName reads a name and trims it; nil if it is absent.
func readName(o *wire.Object) *string {
	name, ok := o.Text("name")
	if !ok {
		return nil
	}
	name = strings.TrimSpace(name)
	if !resources.ValidName(name) {
		o.Add("name", resources.NameRule)
	}
	return &name
}

// readText reads a string accepted by valid, nil if it is absent; rule describes valid strings to
// callers.
func readText(o *wire.Object, name string, valid func(string) bool, rule string) *string {
	text, ok := o.Text(name)
	if !ok {
		return nil
	}
	if !valid(text) {
		o.Add(name, "%s", rule)
	}
	return &text
}

// readBool reads a boolean, nil if it is absent.
func readBool(o *wire.Object, name string) *bool {
	value, ok := o.Bool(name)
	if !ok {
		return nil
	}
	return &value
}

// readMetadata reads an object byte for byte, nil if it is absent.
func readMetadata(o *wire.Object) *json.RawMessage {
	raw, ok := o.Raw("metadata")
	if !ok {
		return nil
	}
	if len(raw) > maxMetadata {
		o.Add("metadata", "must be at most %d bytes", maxMetadata)
	}
	metadata := json.RawMessage(raw)
	return &metadata
}

// validPicture accepts an http or https URL without user and password, and "" for none.
func validPicture(s string) bool {
	if s == "" {
		return true
	}
	if utf8.RuneCountInString(s) > maxPicture || strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return false
	}
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" && u.User == nil
}

func (s *Service) validPartner(name string) bool { return name == s.IdentityProvider }

// validPartnerID accepts a subject of a user's token, and "" for none.
func validPartnerID(s string) bool { return s == "" || validSubject(s) }

// validSubject says whether s can be the subject of a user's token. The prefix of services can't
// begin it.
func validSubject(s string) bool {
	return resources.ValidSubject(s) && !strings.HasPrefix(s, resources.ServicePrefix)
}

// apply sets the user's fields to those of the body. With a provider's subject it sets the
// provider too; with an empty one it clears the provider, unless the body names it.
func (f fields) apply(u *resources.User, provider string) {
	set(&u.Name, f.name)
	set(&u.ProfilePicURL, f.picture)
	set(&u.Email, f.email)
	set(&u.AuthenticationType, f.kind)
	set(&u.IsVerified, f.verified)
	set(&u.Metadata, f.metadata)
	if f.partnerID != nil {
		u.AuthenticationPartnerID, u.AuthenticationPartner = *f.partnerID, provider
		if *f.partnerID == "" {
			u.AuthenticationPartner = ""
		}
	}
	set(&u.AuthenticationPartner, f.partner)
}

// set sets the field to the value, unless value is nil.
func set[T any](field, value *T) {
	if value != nil {
		*field = *value
	}
}
