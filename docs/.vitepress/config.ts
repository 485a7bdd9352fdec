/** The pages of this folder as a site; the search needs no server and no network. */
const page = (text: string, link: string): { readonly text: string; readonly link: string } => ({
  text,
  link: `/${link}`,
});

export default {
  title: 'nodewright',
  description: 'Node auto provisioning for Azure Kubernetes Service',
  cleanUrls: true,
  lastUpdated: false,
  // Placeholders such as <name> are text, not elements.
  markdown: { html: false },
  // Files of the repository beside the pages.
  ignoreDeadLinks: [
    /^\.\.?\/\.\.?\//,
    /\/(src|charts|test|bench|scripts)\//,
    /(README|CONTRIBUTING|SECURITY|CHANGELOG)$/,
  ],
  rewrites: { 'what-is-nap.md': 'index.md' },
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    sidebar: [
      {
        text: 'Start',
        items: [
          page('What it is', ''),
          page('Managed or self-hosted', 'choose'),
          page('Install on AKS', 'install'),
          page('Migration', 'migration'),
          page('The local AKS', 'local-aks'),
        ],
      },
      {
        text: 'Use',
        items: [
          page('NodePool', 'nodepool'),
          page('AKSNodeClass', 'aksnodeclass'),
          page('Disruption', 'disruption'),
          page('Networking', 'networking'),
          page('Placement hints', 'placement-hints'),
          page('Upgrades', 'upgrades'),
          page('Cost', 'cost'),
          page('Limits', 'limits'),
          page('Troubleshooting', 'troubleshooting'),
        ],
      },
      {
        text: 'Tools',
        items: [
          page('plan', 'plan'),
          page('explain', 'explain'),
          page('doctor', 'doctor'),
          page('snapshot', 'snapshot'),
        ],
      },
      {
        text: 'Reference',
        items: [
          page('Objects and conditions', 'reference'),
          page('Options', 'options'),
          page('Errors', 'errors'),
          page('Azure', 'azure'),
          page('Managed mode', 'nap'),
          page('Compatibility', 'compatibility'),
          page('Coverage', 'coverage'),
          page('Design', 'design'),
        ],
      },
    ],
  },
};
