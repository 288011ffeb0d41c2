type Html = (strings: TemplateStringsArray, ...values: unknown[]) => any;
declare const htm: { bind(h: Function): Html };
export default htm;
