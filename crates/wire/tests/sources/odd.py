f'{x!r:{y}}' rb'\\' '''\'''' \
class A(Gauge):
	def f(self, name=1): return A(name, 'd') if x else B
    elif y: A('a'); A(f"{'b'}" + "c", 'd')
else: x += Info('n' '%s' % 1, 'd')
async def g(): Gauge(name=(f'{{{z}}}'), labelnames=[a[0]])
