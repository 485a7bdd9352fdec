/** The bundler collects them into page.css. */
declare module '*.css';
