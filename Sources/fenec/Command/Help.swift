enum Help {
    static let text = """
        fenec - a database in one file

          fenec FILE                            a shell: statements from the terminal or a pipe
          fenec FILE 'TEXT' ['PARAMS']          runs one text; PARAMS is a JSON array for $1, $2, ...
          fenec import FILE COLLECTION [DATA]   puts data into a collection
          fenec export FILE COLLECTION [OUT]    writes a collection out
          fenec schema plan|apply FILE SCHEMA   brings a file to a schema, or tells what that would do
          fenec schema describe FILE [OUT]      the schema of a file
          fenec FILE --check                    whether a file agrees with itself
          fenec backup FILE COPY                a copy that opens anywhere
          fenec recover FILE OUT                what can be read of a damaged file, as a new one
          fenec types --lang L SCHEMA           types for the rows of a schema; fenec types --help
          fenec --version
          fenec --help

        FILE is made where it is missing by shell, text, import and schema apply. Only one process has it open
        at a time.

        Running text
          A text is one statement or several; several land together or not at all, and the answer is the
          last one's. In the shell a text ends at a line that ends in ; at an empty line, or where the
          input ends (not inside quotes). On a terminal, exit or Ctrl-D leaves, and after an error the
          shell goes on; from a pipe the first error ends it.
          Answers are tables on a terminal and one JSON object a line otherwise.
            --table, --json   one or the other wherever it goes
            --time            how long each text took, on standard error
            --echo            each text before its answer (shell)

        Importing
          DATA is a file, or standard input where it is left out or -. JSON lines hold one object a line;
          CSV (RFC 4180) begins with a line of names. A .csv file is CSV, anything else is JSON lines.
          A collection that is not there is made, each field's type inferred from all of the data: bool,
          int, float, timestamp (ISO 8601), text, lists of these, else json. A collection that is there
          is added to, its fields' types are what the data has to fit. A field called id is the document's
          id, a whole number from 1. In CSV an empty cell is null, "" is the empty text, lists and json
          are JSON; quotes mark a column as text unless every cell of the file has them. Names that cannot
          be names of fields are changed, which is said.
          The import is one block, however large: after an error or a kill nothing of it is there. A line
          that cannot be taken is named by its number. Data on standard input is held in memory.
            --format F        jsonl or csv, whatever the file is called
            --type FIELD=T    a type instead of the inferred one; repeatable
            --rename A=B      the data's A is the field B; repeatable
            --replace         a document whose id is there is replaced; without it that is an error
            --keep-going      passes over lines that cannot be taken, telling each; what could be taken
                              stays, written in many blocks; ends with 1 where a line was passed over

        Exporting
          Every document with its id, by id, as import reads it back. OUT is replaced when all is written.
            --format F        jsonl or csv; without it csv where OUT ends in .csv

        Schemas
          SCHEMA is a text of create collection and create index. What is new in it is added; anything else
          that differs is refused, with how to resolve it, and nothing is written. plan writes nothing
          either way. describe writes the schema it reads back, as JSON where it does not go to a terminal
          or to OUT.
            --migrations M    a JSON array of texts (or rebuilds) that each run once, in order
            --text, --json    for people or for programs, wherever it goes

        Checks and copies
          --check looks at every page, every record's checksum and every index against the documents, tells
          each finding on a line, and ends with 1 where there is one. backup writes a copy of the whole,
          its records checked, and leaves nothing where that fails. recover reads a damaged file page by
          page, leaves it as it is, writes what it can read to OUT and names what is lost, ending with 3
          then; rows of which the declaration is lost go to OUT.strays.jsonl.
            --force           replaces COPY or OUT where it is there

        Ends with 0, with 1 after an error of the database or the data, with 2 for a call like no other
        above, with 3 where a schema is refused or a recovery is not
        whole. Errors go to standard error.

        """
}
