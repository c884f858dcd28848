using System.CommandLine;

namespace Net.Zlink.Tool.Commands;

/// <summary>Scripts that ask this program for the words: System.CommandLine knows them.</summary>
internal static class CompletionCommand
{
    private const string Bash = """
        _zlink() {
          COMPREPLY=($(compgen -W "$(zlink "[suggest:$COMP_POINT]" "$COMP_LINE" 2>/dev/null)" -- "${COMP_WORDS[COMP_CWORD]}"))
        }
        complete -o default -F _zlink zlink
        """;

    private const string Zsh = """
        _zlink() { compadd -- ${(f)"$(zlink "[suggest:$CURSOR]" "$BUFFER" 2>/dev/null)"} }
        compdef _zlink zlink
        """;

    private const string Fish = """
        complete -f -c zlink -a '(zlink "[suggest:"(commandline -C)"]" (commandline -p) 2>/dev/null)'
        """;

    public static Command Create(ZlinkTool tool)
    {
        var shell = new Argument<string>("shell") { Description = "bash, zsh or fish" };
        shell.AcceptOnlyFromAmong("bash", "zsh", "fish");
        return tool.Create("completion", "Prints a script that completes commands and options in a shell.",
            """
              source <(zlink completion bash)                 in ~/.bashrc
              source <(zlink completion zsh)                  in ~/.zshrc, behind compinit
              zlink completion fish | source                  in ~/.config/fish/config.fish
            """,
            [shell],
            run =>
            {
                run.Out.WriteLine(run.Get(shell) switch { "bash" => Bash, "zsh" => Zsh, _ => Fish });
                return Task.CompletedTask;
            });
    }
}
