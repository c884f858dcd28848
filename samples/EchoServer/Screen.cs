using System.Text;

namespace EchoServer;

/// <summary>
/// Standard output: either a terminal, where one live line is rewritten in place, or a file or pipe, where every line is written once.
/// Live lines come as UTF-8 that the caller composed in a buffer of its own, so showing them allocates nothing.
/// </summary>
internal sealed class Screen : IDisposable
{
    private readonly Stream _output = Console.OpenStandardOutput();
    private readonly Lock _lock = new();
    private bool _liveLineShown;

    /// <summary>True on a terminal: <see cref="ShowLive"/> replaces its line instead of adding one.</summary>
    public bool IsTerminal { get; } = !Console.IsOutputRedirected;

    /// <summary>True when block characters can be shown; an old Windows console or a Latin-1 locale gets '#' instead.</summary>
    public bool HasBlocks { get; } = Console.OutputEncoding.CodePage == Encoding.UTF8.CodePage;

    /// <summary>Writes a line that stays. A live line that was shown is gone.</summary>
    public void WriteLine(string text = "")
    {
        lock (_lock)
        {
            EraseLiveLine();
            _output.Write(Encoding.UTF8.GetBytes(text + Environment.NewLine));
        }
    }

    /// <summary>
    /// Writes a line to standard error, so that it is seen when the output goes to a file, without garbling the live line.
    /// </summary>
    public void WriteNotice(string text)
    {
        lock (_lock)
        {
            EraseLiveLine();
            Console.Error.WriteLine(text);
        }
    }

    /// <summary>Shows a line that the next call replaces; without a terminal it is a line like any other.</summary>
    public void ShowLive(ReadOnlySpan<byte> utf8)
    {
        lock (_lock)
        {
            if (!IsTerminal)
            {
                _output.Write(utf8);
                _output.Write("\n"u8);
                return;
            }

            // \r: to the left edge. ESC[K: erase what a longer line left behind.
            _output.Write("\r"u8);
            _output.Write(Fitting(utf8));
            _output.Write("\e[K"u8);
            _liveLineShown = true;
        }
    }

    /// <summary>The live line, as it stands, becomes a line that stays.</summary>
    public void KeepLive()
    {
        lock (_lock)
        {
            if (_liveLineShown)
            {
                _output.Write("\n"u8);
                _liveLineShown = false;
            }
        }
    }

    public void Dispose() => _output.Dispose();

    private void EraseLiveLine()
    {
        if (_liveLineShown)
        {
            _output.Write("\r\e[K"u8);
            _liveLineShown = false;
        }
    }

    /// <summary>A live line as wide as the window would wrap, and \r would no longer find its beginning: show what fits.</summary>
    private static ReadOnlySpan<byte> Fitting(ReadOnlySpan<byte> utf8)
    {
        int capacity = Math.Max(20, Console.WindowWidth) - 1;
        for (int i = 0; i < utf8.Length; i++)
        {
            bool startsCharacter = (utf8[i] & 0xC0) != 0x80;
            if (startsCharacter && capacity-- == 0)
            {
                return utf8[..i];
            }
        }

        return utf8;
    }
}
