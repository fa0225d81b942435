package resources

import "encoding/json"

// Prefixes of the ids of security groups and of their rules (specification, "Common
// conventions").
const (
	PrefixSecurityGroup     = "sg"
	PrefixSecurityGroupRule = "sgr"
)

// Statuses of a security group (specification, "Security group"). A new one is active,
// and one that was deleted is deleted; the others are for whoever applies the rules to a
// network.
const (
	SecurityGroupActive   = "active"
	SecurityGroupPending  = "pending"
	SecurityGroupError    = "error"
	SecurityGroupDeleting = "deleting"
	SecurityGroupDeleted  = "deleted"
)

// Directions of a rule, as seen from what the group protects.
const (
	DirectionIngress = "ingress"
	DirectionEgress  = "egress"
)

// SecurityGroup is a virtual firewall of one project (specification, "Security group"):
// it is kept as it is shown.
type SecurityGroup struct {
	ID        string `json:"id"`
	AccountID string `json:"account_id"`
	ProjectID string `json:"project_id"`
	// Name is unique among the project's groups that were not deleted.
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Status      string `json:"status"`
	// Metadata is the object that the client sent, numbers and order included; nil is none.
	Metadata json.RawMessage `json:"metadata,omitempty"`
	// Rules are in the order in which they were added; never nil, so that an empty list
	// is shown as one.
	Rules     []SecurityGroupRule `json:"rules"`
	CreatedAt Time                `json:"created_at"`
	UpdatedAt Time                `json:"updated_at"`
	IsDeleted bool                `json:"is_deleted"`
}

// SecurityGroupRule lets traffic through (specification, "Security group rule"). It is
// kept and shown in one canonical form, however it was sent.
type SecurityGroupRule struct {
	ID              string `json:"id"`
	SecurityGroupID string `json:"security_group_id"`
	Direction       string `json:"direction"`
	// Protocol is tcp, udp or icmp, and any other protocol its number in decimal.
	Protocol string `json:"protocol"`
	// PortRangeMin and PortRangeMax are the ends of the range, 0 to 65535, both of it;
	// nil is every port.
	PortRangeMin *int `json:"port_range_min,omitempty"`
	PortRangeMax *int `json:"port_range_max,omitempty"`
	// RemoteIPPrefix is a CIDR without host bits, IPv6 in the form of RFC 5952. It and
	// RemoteSecurityGroupID exclude each other; neither is every address.
	RemoteIPPrefix        string `json:"remote_ip_prefix,omitempty"`
	RemoteSecurityGroupID string `json:"remote_security_group_id,omitempty"`
	// ICMPType and ICMPCode are 0 to 255; nil is every one.
	ICMPType *int `json:"icmp_type,omitempty"`
	ICMPCode *int `json:"icmp_code,omitempty"`
	// Priority is 0 to 32767; the lower value comes first.
	Priority    int    `json:"priority"`
	Description string `json:"description,omitempty"`
	CreatedAt   Time   `json:"created_at"`
	UpdatedAt   Time   `json:"updated_at"`
	IsDeleted   bool   `json:"is_deleted"`
}
