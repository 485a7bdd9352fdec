/** The bundler combines these files into page.css. */
declare module '*.css';
