using Spectre.Console;
using Spectre.Console.Rendering;

namespace Samples;

/// <summary>Something in a terminal that is drawn over itself until it ends. Not thread-safe.</summary>
/// <param name="console">The terminal.</param>
/// <param name="isCleared">Whether it leaves nothing behind.</param>
internal sealed class LivePanel(IAnsiConsole console, bool isCleared)
{
    private TaskCompletionSource _end = new();
    private LiveDisplayContext? _display;

    public void Show(IRenderable picture)
    {
        if (_display is null)
        {
            _end = new TaskCompletionSource();
            _ = console.Live(picture).AutoClear(isCleared).StartAsync(display =>
            {
                _display = display;
                return _end.Task;
            });
        }

        _display!.UpdateTarget(picture);
    }

    /// <summary>What is written now comes below. It may be shown again.</summary>
    public void End()
    {
        _display = null;
        _end.TrySetResult(); // The display ends within this call.
    }
}
