export const marked: { lexer(text: string, options?: object): any[] };
