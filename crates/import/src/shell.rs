//! Lines of a shell, as far as assignments and commands need it: words without their quotes, and what stands between commands.

/// A part of a line.
#[derive(Debug, PartialEq, Eq)]
pub enum Token {
    /// A word without its quotes. Variables in it are as written; what another command would print (`$(…)`) is left out.
    Word(String),
    /// What ends a command.
    End {
        /// Whether the next command only runs by how this one ended: `&&` and `||`.
        is_condition: bool,
    },
}

/// The parts of a line; `None` where a quote in it does not end.
pub fn tokens(line: &str) -> Option<Vec<Token>> {
    let mut rest = line.chars().peekable();
    let (mut found, mut word) = (Vec::new(), None::<String>);
    while let Some(letter) = rest.next() {
        match letter {
            '#' if word.is_none() => break,
            _ if letter.is_whitespace() => found.extend(word.take().map(Token::Word)),
            ';' | '&' | '|' | '(' | ')' => {
                found.extend(word.take().map(Token::Word));
                let is_condition = letter != ';' && rest.next_if_eq(&letter).is_some();
                found.push(Token::End { is_condition: is_condition && matches!(letter, '&' | '|') });
            }
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match rest.next()? {
                        '\'' => break,
                        inside => word.push(inside),
                    }
                }
            }
            '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match rest.next()? {
                        '"' => break,
                        '\\' => match rest.next()? {
                            '\n' => {}
                            escaped @ ('"' | '\\' | '$' | '`') => word.push(escaped),
                            other => word.extend(['\\', other]),
                        },
                        '`' => skip_to(&mut rest, '`')?,
                        '$' if rest.next_if_eq(&'(').is_some() => skip_command(&mut rest)?,
                        inside => word.push(inside),
                    }
                }
            }
            '\\' => match rest.next() {
                Some('\n') | None => {}
                Some(escaped) => word.get_or_insert_default().push(escaped),
            },
            '`' => {
                word.get_or_insert_default();
                skip_to(&mut rest, '`')?;
            }
            '$' if rest.next_if_eq(&'(').is_some() => {
                word.get_or_insert_default();
                skip_command(&mut rest)?;
            }
            '$' if rest.next_if_eq(&'{').is_some() => {
                let word = word.get_or_insert_default();
                word.push_str("${");
                loop {
                    match rest.next()? {
                        '}' => break word.push('}'),
                        inside => word.push(inside),
                    }
                }
            }
            other => word.get_or_insert_default().push(other),
        }
    }
    found.extend(word.map(Token::Word));
    Some(found)
}

fn skip_to(rest: &mut impl Iterator<Item = char>, end: char) -> Option<()> {
    rest.find(|letter| *letter == end).map(drop)
}

/// Skips what follows `$(` up to its end.
fn skip_command(rest: &mut impl Iterator<Item = char>) -> Option<()> {
    let mut depth = 1_usize;
    while depth > 0 {
        match rest.next()? {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
    }
    Some(())
}

/// Name, whether it is added to (`+=`), and value of a word that assigns.
pub fn assignment(word: &str) -> Option<(&str, bool, &str)> {
    let (name, value) = word.split_once('=')?;
    let (name, is_added) = name.strip_suffix('+').map_or((name, false), |name| (name, true));
    let is_name =
        name.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_') && name.chars().all(is_of_name);
    is_name.then_some((name, is_added, value))
}

/// The variables that a text reads: `$A`, `${A}` and `%A%`.
pub fn variables(text: &str) -> impl Iterator<Item = &str> {
    let until = |rest: &str| rest.find(|letter| !is_of_name(letter)).unwrap_or(rest.len());
    let after_dollar = text.split('$').skip(1).filter_map(move |rest| {
        let rest = rest.strip_prefix('{').unwrap_or(rest);
        rest.get(..until(rest))
    });
    let in_percents = text.split('%').skip(1).filter(|part| part.chars().all(is_of_name));
    after_dollar.chain(in_percents).filter(|name| !name.is_empty())
}

fn is_of_name(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        let of = |token| if let Token::Word(word) = token { word } else { "END".to_owned() };
        tokens(line).unwrap().into_iter().map(of).collect()
    }

    #[test]
    fn words_lose_their_quotes_and_commands_end() {
        assert_eq!(words(r#"A="b \"c\" $D" 'e f'g # h"#), [r#"A=b "c" $D"#, "e fg"]);
        assert_eq!(words("A=1; B=2 && c|d"), ["A=1", "END", "B=2", "END", "c", "END", "d"]);
        assert_eq!(words(r#"A="$(b "c" (d)) -Xe" F=`g -h`"#), ["A= -Xe", "F="]);
        assert_eq!(words("A=${B:- c}d"), ["A=${B:- c}d"]);
        assert_eq!(words("a#b #c"), ["a#b"]);
        let open = |line: &str| assert_eq!(tokens(line), None, "{line}");
        ["A=\"b", "don't", "`a", "$(b", "${c"].into_iter().for_each(open);
        let ends = |line: &str| {
            let all = tokens(line).unwrap();
            all.into_iter().filter(|token| matches!(token, Token::End { is_condition: true })).count()
        };
        assert_eq!((ends("a && b || c"), ends("a; b & c | (d)")), (2, 0));
    }

    #[test]
    fn what_assigns_and_what_reads() {
        assert_eq!(assignment("JAVA_OPTS+= -Xa=b"), Some(("JAVA_OPTS", true, " -Xa=b")));
        assert_eq!(assignment("A="), Some(("A", false, "")));
        for word in ["a-b=c", "=c", "1a=b", "-Da=b", "a"] {
            assert_eq!(assignment(word), None, "{word}");
        }
        assert_eq!(variables("$A-${B:-c}%D% 5 % e$").collect::<Vec<_>>(), ["A", "B", "D"]);
    }
}
