package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/portcullis-authz/portcullis/gateway"
	"github.com/portcullis-authz/portcullis/gateway/peer"
	"github.com/portcullis-authz/portcullis/resources/access"
)

// Roles of a process.
const (
	// roleAll is the gateway with every area that no upstream was given for.
	roleAll = "all"
	// roleGateway is the gateway without resource areas: each is an upstream.
	roleGateway = "gateway"
	// roleResources serves resource areas to gateways, and nobody else.
	roleResources = "resources"
)

// resourceAreas are the areas that may be in a process of their own, by the names under
// which the catalogue finds them.
func resourceAreas() []string { return []string{upstreamClusters, upstreamFirewall} }

var (
	errNoAreas  = errors.New("--role resources needs --areas: which of clusters, firewall this process serves")
	errNotOuter = errors.New("--upstream and --demo are for gateways; a process with --role resources has neither")
	errNoShared = errors.New("--role resources needs --master-key-file, the gateway's: with another key it could not tell the gateway's word from anybody's")
	errApart    = errors.New("--areas clusters needs firewall in the same process: clusters name security groups")
)

// checkRole says which areas are in this process.
func (s *settings) checkRole() error {
	given := s.areaList != ""
	if given && s.role != roleResources {
		return errors.New("--areas is for --role resources")
	}
	switch s.role {
	case roleAll:
		s.areas = slices.DeleteFunc(resourceAreas(), func(name string) bool { return s.bases[name] != nil })
	case roleGateway:
		for _, name := range resourceAreas() {
			if s.bases[name] == nil {
				return fmt.Errorf("--role gateway needs --upstream %s=url: where that area is", name)
			}
		}
	case roleResources:
		switch {
		case !given:
			return errNoAreas
		case len(s.upstreams) > 0 || s.demo:
			return errNotOuter
		case s.masterKeyFile == "":
			return errNoShared
		}
		s.areas = strings.Split(s.areaList, ",")
		for i, name := range s.areas {
			if !slices.Contains(resourceAreas(), name) || slices.Contains(s.areas[:i], name) {
				return fmt.Errorf("--areas %q: each of clusters, firewall may stand there once, with a comma between", s.areaList)
			}
		}
	default:
		return fmt.Errorf("--role must be all, gateway or resources, not %q", s.role)
	}
	if slices.Contains(s.areas, upstreamClusters) && !slices.Contains(s.areas, upstreamFirewall) {
		return errApart
	}
	return nil
}

// localAreas are the resource areas that are in this process.
func (s *settings) localAreas(c *core) map[string]gateway.Area {
	all := map[string]gateway.Area{
		upstreamFirewall: {Routes: c.firewall.Routes(), Projects: c.firewall},
		upstreamClusters: {Routes: c.clusters.Routes(), Projects: c.clusters},
	}
	out := map[string]gateway.Area{}
	for _, name := range s.areas {
		out[name] = all[name]
	}
	return out
}

// occupants are what is asked before a project is deleted: the areas, wherever they are.
func (s *settings) occupants(c *core) (out []access.Occupant) {
	local := s.localAreas(c)
	for _, name := range resourceAreas() {
		if base := s.bases[name]; base != nil {
			out = append(out, peer.RemoteArea{Upstream: peer.NewUpstream(name, base, s.limits.Upstream, s.limits.Idle, c.assertions), IDs: c.ids})
		} else if area, ok := local[name]; ok {
			out = append(out, area)
		}
	}
	return out
}

// newInner is the edge of a process behind gateways.
func (s *settings) newInner(a *app) (*gateway.Edge, error) {
	return gateway.NewInner(gateway.Config{
		Catalogue: a.policy.Routes(), Assertions: a.assertions,
		Limits: s.limits, IDs: a.ids, Now: a.ids.Now, Log: a.log.Logger, Observe: a.observe,
	}, s.localAreas(a.core))
}
