// The page may run no script of its own (Content-Security-Policy), so the viewer is started from here.
SwaggerUIBundle({
  url: 'openapi.json',
  dom_id: '#docs',
  deepLinking: true,
  // The schemas are shown where they are used; a list of all of them is long.
  defaultModelsExpandDepth: -1,
  // The viewer would ask a server elsewhere whether the document is valid.
  validatorUrl: null,
});
