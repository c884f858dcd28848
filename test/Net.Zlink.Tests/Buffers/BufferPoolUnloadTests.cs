using System.Reflection;
using System.Runtime.CompilerServices;
using System.Runtime.Loader;
using Net.Zlink.Buffers;
using Xunit;

namespace Net.Zlink.Tests.Buffers;

public sealed class BufferPoolUnloadTests
{
    [Fact]
    public void A_plug_in_that_used_the_shared_pool_can_be_unloaded()
    {
        WeakReference plugIn = UseAndUnload();

        // Unloading takes several collections: the context, what its finalizers let go, the loader's own.
        const int MostCollections = 20;
        for (int i = 0; i < MostCollections && plugIn.IsAlive; i++)
        {
            GC.Collect();
            GC.WaitForPendingFinalizers();
        }

        Assert.False(plugIn.IsAlive);
    }

    // Not inlined: no local of it may hold what is to be collected.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static WeakReference UseAndUnload()
    {
        var context = new AssemblyLoadContext("plug-in", isCollectible: true);
        Type pool = context.LoadFromAssemblyPath(typeof(BufferPool).Assembly.Location).GetType(typeof(BufferPool).FullName!)!;
        Assert.NotSame(typeof(BufferPool), pool);
        object shared = pool.GetProperty("Shared", BindingFlags.Public | BindingFlags.Static | BindingFlags.DeclaredOnly)!.GetValue(null)!;
        using (var owner = (IDisposable)pool.GetMethod("Rent", [typeof(int)])!.Invoke(shared, [100])!)
        {
            Assert.NotNull(owner);
        }

        context.Unload();
        return new WeakReference(context);
    }
}
