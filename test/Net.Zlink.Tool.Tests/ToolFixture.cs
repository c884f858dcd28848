using System.Text;
using System.Threading.Channels;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tool.Tests;

/// <summary>One command that runs in this process, as a shell would run it.</summary>
internal sealed class ToolFixture : IAsyncDisposable
{
    private readonly CancellationTokenSource _stop = CancellationTokenSource.CreateLinkedTokenSource(Guard.Token);
    private readonly Lines _output = new();
    private readonly Lines _errors = new();

    private ToolFixture(string input, string[] arguments) =>
        Ended = ZlinkTool.RunAsync(arguments, new StringReader(input), _output, _errors, _stop.Token);

    /// <summary>The exit code.</summary>
    public Task<int> Ended { get; }

    /// <summary>Starts a command that listens at a free port.</summary>
    public static async Task<(ToolFixture Tool, string Endpoint)> ListenAsync(params string[] arguments)
    {
        ToolFixture tool = Start(arguments);
        return (tool, await tool.ListeningAsync());
    }

    public static ToolFixture Start(params string[] arguments) => new("", arguments);

    /// <summary>The next endpoint at which it listens.</summary>
    public async Task<string> ListeningAsync()
    {
        const string Before = "zlink: listening at ";
        string line = await _errors.Reader.ReadAsync(Guard.Token).Guarded();
        Assert.StartsWith(Before, line, StringComparison.Ordinal);
        return line[Before.Length..];
    }

    /// <summary>Runs a command to its end.</summary>
    public static Task<(int Code, string Output, string Errors)> RunAsync(params string[] arguments) => ReadAsync("", arguments);

    /// <summary>Runs a command with a text as its standard input.</summary>
    public static async Task<(int Code, string Output, string Errors)> ReadAsync(string input, params string[] arguments)
    {
        var tool = new ToolFixture(input, arguments);
        int code = await tool.Ended.Guarded();
        return (code, tool._output.Rest, tool._errors.Rest);
    }

    /// <summary>What it has printed and was not read yet.</summary>
    public string Rest => _output.Rest;

    public string RestOfErrors => _errors.Rest;

    public Task<string> LineAsync() => _output.Reader.ReadAsync(Guard.Token).Guarded();

    /// <summary>Ends it as Ctrl-C does, if it has not ended.</summary>
    public async ValueTask DisposeAsync()
    {
        await _stop.CancelAsync();
        await Ended.Guarded();
        _stop.Dispose();
    }

    private sealed class Lines : TextWriter
    {
        private readonly Channel<string> _lines = Channel.CreateUnbounded<string>();
        private readonly StringBuilder _line = new();

        public override Encoding Encoding => Encoding.UTF8;

        public ChannelReader<string> Reader => _lines.Reader;

        /// <summary>What was not read yet.</summary>
        public string Rest
        {
            get
            {
                var rest = new StringBuilder();
                while (_lines.Reader.TryRead(out string? line))
                {
                    rest.Append(line).Append('\n');
                }

                return rest.ToString();
            }
        }

        public override void Write(char value)
        {
            if (value is not '\n')
            {
                _line.Append(value);
                return;
            }

            _lines.Writer.TryWrite(_line.ToString());
            _line.Clear();
        }
    }
}
