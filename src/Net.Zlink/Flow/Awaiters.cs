using System.Runtime.CompilerServices;

namespace Net.Zlink.Flow;

/// <summary>Awaiters that are kept, and asked later on whether their task has ended.</summary>
internal static class Awaiters
{
    public static ConfiguredValueTaskAwaitable<T>.ConfiguredValueTaskAwaiter Of<T>(ValueTask<T> task) =>
        task.ConfigureAwait(false).GetAwaiter();

    public static ConfiguredValueTaskAwaitable.ConfiguredValueTaskAwaiter Of(ValueTask task) => task.ConfigureAwait(false).GetAwaiter();
}
