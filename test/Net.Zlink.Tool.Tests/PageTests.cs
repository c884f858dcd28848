using System.Text.RegularExpressions;
using Net.Zlink.Tests.Support;
using Samples;
using Xunit;

namespace Net.Zlink.Tool.Tests;

/// <summary>docs/tool.md shows what its commands print.</summary>
public sealed partial class PageTests
{
    private const string Prompt = "$ ";
    private const string Indent = "    ";

    [SlowFact]
    public async Task Each_command_of_the_page_prints_what_the_page_shows()
    {
        string? bash = Programs.Find("bash");
        Assert.SkipWhen(bash is null, "the commands of docs/tool.md are for bash, which is not installed");
        var ports = new Dictionary<string, int>(StringComparer.Ordinal);
        string page = PortOfPage().Replace(
            await File.ReadAllTextAsync(Path.Combine(Repository.Root, "docs", "tool.md"), Guard.Token),
            one => $"127.0.0.1:{(ports.TryGetValue(one.Value, out int port) ? port : ports[one.Value] = FreePort.Next())}");
        var lines = new Queue<string>(page.Split("\n\n")
            .Where(static block => block.StartsWith(Indent + Prompt, StringComparison.Ordinal))
            .SelectMany(static block => block.Split('\n', StringSplitOptions.RemoveEmptyEntries))
            .Select(static line => line[Indent.Length..]));
        Assert.NotEmpty(lines);

        // The folder of the tests has the tool, too. One shell runs all commands of the page, as a reader would.
        await using ChildProcess shell = Programs.Installed(bash, AppContext.BaseDirectory)
            .With("PATH", AppContext.BaseDirectory + Path.PathSeparator + Environment.GetEnvironmentVariable("PATH"))
            .WithErrorsInOutput().Start();
        string command = "";
        while (lines.TryDequeue(out string? line))
        {
            if (line.StartsWith(Prompt, StringComparison.Ordinal))
            {
                command = line;
                shell.Send(line[Prompt.Length..]);
                continue;
            }

            string printed = Masked(await shell.ReadLineAsync());
            line = Masked(line);
            while (line.Length < printed.Length && lines.TryPeek(out string? next) && !next.StartsWith(Prompt, StringComparison.Ordinal))
            {
                line += " " + Masked(lines.Dequeue()); // The page has shorter lines than some outputs.
            }

            Assert.True(string.Equals(line, printed, StringComparison.Ordinal), $"{command}\nthe page: {line}\nprinted:  {printed}");
        }

        shell.Send("kill $(jobs -p) 2> /dev/null; wait; exit");
        await shell.EndAsync();
    }

    private static string Masked(string line) => Number().Replace(line, "#");

    [GeneratedRegex(@"127\.0\.0\.1:\d{4}", RegexOptions.None, matchTimeoutMilliseconds: 1000)]
    private static partial Regex PortOfPage();

    // Times, rates, ports and ids differ each time.
    [GeneratedRegex(@"0x[0-9a-f]+|\d[\d,.]*", RegexOptions.None, matchTimeoutMilliseconds: 1000)]
    private static partial Regex Number();
}
